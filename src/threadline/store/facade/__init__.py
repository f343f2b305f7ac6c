"""The methods of `Store`, grouped by subject."""
