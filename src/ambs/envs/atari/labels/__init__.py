"""What the labels of each game mean, in terms of the console's 128 bytes of memory; one file a game."""
