"""Numbers: estimates and gates on counts, scores and odds. They know no judge and no pair."""
