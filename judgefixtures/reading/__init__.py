"""Reading: what an answer says: its verdict or score, how sure it was, and what its reason admits."""
