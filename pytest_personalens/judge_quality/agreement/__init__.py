"""The agreement of a judge with labelled dialogues."""
