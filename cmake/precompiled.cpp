// Nothing: CMake needs one source file to build the precompiled header for.
