// rowan-ctr generate: clicks of a known model.
