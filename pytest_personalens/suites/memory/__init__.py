"""The third suite: does an assistant with a memory of its own remember its users?"""
