"""The twin of common/key.h for serving code in Python: the same key for the same feature and id, version 1."""

M = 2**64 - 1

def mix(x):
    x ^= x >> 30; x = x * 0xbf58476d1ce4e5b9 & M; x ^= x >> 27; x = x * 0x94d049bb133111eb & M; return x ^ x >> 31

def bytes_hash(seed, b):
    h = seed
    for i in range(0, len(b), 8): h = mix(h ^ int.from_bytes(b[i:i + 8], 'little'))
    return mix(h ^ len(b))

def key(feature, id):  # feature: bytes; id: bytes or int
    f = bytes_hash(0x726f77616e6b6579, feature)
    return mix(mix(f ^ id) ^ M) if isinstance(id, int) else bytes_hash(f, id)
