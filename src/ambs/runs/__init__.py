"""What runs from start to end and leaves a folder behind."""
