"""Material: what judges are shown: pairs, cues, edits, and the prompts and contrasts made of them."""
