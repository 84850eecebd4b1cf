"""The critical path of a trace, worked out a second time: slow, in plain Python, from the definitions in docs/measures.md.

trace.py reads PyTorch traces, graph.py joins what had to wait for what, answers.py simulates and walks back.
"""
