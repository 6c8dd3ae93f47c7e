"""Imports: answers of a log in place of recordings."""

from judgefixtures.imports.entries import Request as Request
from judgefixtures.imports.logs import import_log as import_log
from judgefixtures.imports.logs import summary as summary
