"""Tables in the shape of the paper's, made from stored runs: Tables 3, 4, 10, 12 and 13, Figures 4 and 5; 8
and 9 of a dataset.
"""
