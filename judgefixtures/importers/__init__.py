"""Importers: logged answers of a judge, used in place of recordings."""

from .import_log import import_log as import_log
from .import_log import summary as summary
from .log_rows import ImportRequest as ImportRequest
