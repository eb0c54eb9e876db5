"""The dialogue: its messages, tool calls and state, and the loop of its turns."""
