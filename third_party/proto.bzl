"""Protocol buffers by Debian's protoc."""

def rowan_proto_library(name, src, deps = []):
    """The C++ messages of one .proto file as cc_library `name`.

    Args:
      name: the library, by custom FILE_cc_proto.
      src: the .proto file, in this package.
      deps: rowan_proto_library targets of the files it imports.
    """
    stem = src[:-len(".proto")]
    native.genrule(
        name = name + "_gen",
        srcs = native.glob(["*.proto"]),
        outs = [stem + ".pb.h", stem + ".pb.cc"],
        cmd = "protoc -I. --cpp_out=$(GENDIR) %s/%s" % (native.package_name(), src),
    )
    native.cc_library(
        name = name,
        srcs = [stem + ".pb.cc"],
        hdrs = [stem + ".pb.h"],
        copts = ["-Wno-unused-parameter"],
        deps = deps + ["//third_party:protobuf"],
        visibility = ["//visibility:public"],
    )

def rowan_grpc_library(name, src, proto, deps = []):
    """The C++ stubs and service bases of one .proto file's services as cc_library `name`.

    Its header takes seconds to compile: include it in few files.

    Args:
      name: the library, by custom FILE_cc_grpc.
      src: the .proto file, in this package.
      proto: the rowan_proto_library target of the same file.
      deps: rowan_grpc_library targets of the files it imports.
    """
    stem = src[:-len(".proto")]
    native.genrule(
        name = name + "_gen",
        srcs = native.glob(["*.proto"]),
        outs = [stem + ".grpc.pb.h", stem + ".grpc.pb.cc"],
        cmd = "protoc -I. --plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin --grpc_out=$(GENDIR) %s/%s" %
              (native.package_name(), src),
    )
    native.cc_library(
        name = name,
        srcs = [stem + ".grpc.pb.cc"],
        hdrs = [stem + ".grpc.pb.h"],
        copts = ["-Wno-unused-parameter"],
        deps = deps + [proto, "//third_party:grpc", "//third_party:protobuf"],
        visibility = ["//visibility:public"],
    )
