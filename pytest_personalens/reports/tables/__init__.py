"""Tables in the form of the paper's tables.

Stored runs give Tables 3, 4, 10, 12 and 13, and Figures 4 and 5. A dataset gives Tables 8 and 9.
"""
