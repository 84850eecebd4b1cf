def capsule_of_stream(s): raise NotImplementedError
capsule_of_schema = capsule_of_stream
