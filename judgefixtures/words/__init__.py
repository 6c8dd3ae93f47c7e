"""Words: texts for people, errors, commands as a shell reads them, and secrets that nothing may show."""
