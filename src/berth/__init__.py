"""berth finds a berth for every stream operator."""
