"""The compiled part: loops that have to be fast, in C++ (nanobind).

Every folder of C++ files is a module (`engine/*.cpp` is `berth.core.engine`), and the stub beside it
(`engine.pyi`) says what Python sees of it.
"""
