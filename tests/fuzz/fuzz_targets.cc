// BUILD: data = ["//tests/corpus:forms", "//tests/corpus:hlo_text", "//tests/corpus:jax"]
#include "tests/fuzz/fuzz_targets.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/json_util.h"
#include "hlo/analysis/module_stats.h"
#include "hlo/analysis/program_statistics.h"
#include "hlo/base/gzip.h"
#include "hlo/devices/spmd_record.h"
#include "hlo/io/container.h"
#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "runtime/arguments/npz.h"
#include "runtime/arguments/random_arguments.h"
#include "runtime/engine/executor.h"
#include "tests/corpus_files.h"
#include "tests/fuzz/mutate_message.h"
#include "tests/fuzz/mutate_text.h"
#include "tests/runtime/evaluate.h"
#include "tests/runtime/kernels/custom_call_programs.h"

namespace toroid {
namespace {

constexpr size_t kLargestText = 4000, kLargestBinary = 16000;  // Most bytes of a seed.
constexpr int64_t kRunBytes = 16 << 20, kRunSteps = 2000, kRunPartitions = 8;

// Older, nested and contradictory spellings, buffers, vectors of starts, mixed precision.
constexpr const char* kForms[] = {
    R"(HloModule forms:
body { s = (s32[], b(f32[4])) parameter(0) i = s32[] get-tuple-element(s), index=0
  j = s32[] add(i, s32[] constant(1)) b = b(f32[4]) get-tuple-element(s), index=1
  ROOT t = (s32[], b(f32[4])) tuple(j, b) }
cond { s = (s32[], b(f32[4])) parameter(0) i = s32[] get-tuple-element(s), index=0
  ROOT c = pred[] compare(i, s32[] constant(3)), direction=LT }
ENTRY e (x: f32[4]) -> f32[4] {
  x = f32[4] parameter(0), sharding={devices=[2]<=[2]}
  b = b(f32[4]) custom-call(x), custom_call_target="Pin", output_to_operand_aliasing={{}: (0, {})}
  s = (s32[], b(f32[4])) tuple(s32[] constant(0), b)
  w = (s32[], b(f32[4])) while(s), condition=cond, body=body
  r = b(f32[4]) get-tuple-element(w), index=1
  ROOT y = f32[4] custom-call(r), custom_call_target="Unpin", output_to_operand_aliasing={{}: (0, {})}
})",
    R"(ENTRY e (x: s32[2]) -> f32[9] {
  x = s32[4,6] parameter(0), sharding={devices=[2,1]<=[2]}
  v = s32[2] parameter(1), sharding={devices=[2]<=[2]}
  d = s32[2,3] dynamic-slice(x, v), dynamic_slice_sizes={2,3}
  u = s32[4,6] dynamic-update-slice(x, d, v)
  ROOT m = s32[4,6] add(u, s32[4,6] constant(3))
})",
    R"(HloModule mixed, entry_computation_layout={(f32[4])->u64[]}
add { a = f32[] parameter(0) b = bf16[] parameter(1) c = f32[] convert(b) ROOT s = f32[] add(a, c) }
ENTRY e {
  x = bf16[8,4] parameter(0), sharding={devices=[2,1]<=[2]}
  y = f32[8,4] copy(x)
  z = f32[8,4] multiply(x, y)
  r = bf16[4] reduce(z, f16[] constant(0)), dimensions={0}, to_apply=add
  k = f32[300] constant(2)
  u = u64[] constant(-1)
  f = c64[0] fft(c64[0] constant({})), fft_type=FFT, fft_length=0
  ROOT t = (bf16[4], f32[300], u64[], c64[0]) tuple(r, k, u, f)
})"};

// A program for each opcode and each known custom-call, modules of compilers, and special forms.
std::vector<std::string> Texts() {
  std::vector<std::string> texts(std::begin(kForms), std::end(kForms));
  for (const auto* programs : {&OpPrograms(), &CustomCallPrograms()}) {
    for (const OpProgram& program : *programs) {
      const std::unique_ptr<Module> module = MakeModule(program.body, program.computations);
      if (program.devices > 1) {
        module->config().num_partitions = program.devices;
        module->config().identity_device_assignment = true;  // Module protos have no other.
        auto* assignment = module->mutable_proto()->mutable_device_assignment();
        assignment->set_replica_count(1);
        assignment->set_computation_count(program.devices);
      }
      texts.push_back(PrintModule(*module));
    }
  }
  for (const char* folder : {"forms", "hlo_text"}) {
    for (const std::string& path : CorpusFiles(folder, ".hlo")) {
      std::string text = ReadCorpusFile(path);
      if (text.size() <= kLargestText) texts.push_back(std::move(text));
    }
  }
  return texts;
}

std::string As(absl::string_view input, Format format) { return *SerializeHlo(*ReadHlo(input), format); }

// The module of some HLO text in binary form, in container number `index`.
std::string InContainer(const std::string& text, int index) {
  xla::HloProto proto;
  proto.ParseFromString(As(text, Format::kContainer));
  xla::HloUnoptimizedSnapshot unoptimized;
  xla::HloModuleProtoWithConfig with_config;
  xla::HloSnapshot snapshot;
  switch (index % 6) {
    case 0:
      return proto.SerializeAsString();
    case 1:
      return As(text, Format::kSnapshot);
    case 2:
      return proto.hlo_module().SerializeAsString();
    case 3:
      *unoptimized.mutable_hlo_module() = proto.hlo_module();
      unoptimized.add_partitions()->add_arguments()->add_f32s(1);
      return unoptimized.SerializeAsString();
    case 4:
      *snapshot.mutable_hlo() = proto;
      Literal::Array<float>({2}, {1, 2}).ToProto(snapshot.add_arguments());
      Literal::Array<bool>({9}, {true, false, true, false, true, false, true, false, true})
          .ToProto(snapshot.add_arguments());
      return As(snapshot.SerializeAsString(), Format::kUnoptimizedSnapshot);  // With streamed arguments.
    default:
      *with_config.mutable_hlo_module() = proto.hlo_module();
      // Both places name the same number.
      with_config.mutable_config()->set_num_partitions(
          proto.hlo_module().has_device_assignment()
              ? proto.hlo_module().device_assignment().computation_count()
              : 2);
      return with_config.SerializeAsString();
  }
}

// The same modules in their binary form, in all containers, and small files of compilers.
std::vector<std::string> Binaries() {
  std::vector<std::string> binaries;
  for (const std::string& text : Texts()) {
    binaries.push_back(InContainer(text, static_cast<int>(binaries.size())));
  }
  for (const std::string& path : CorpusFiles("jax", ".pb")) {
    std::string bytes = ReadCorpusFile(path);
    if (bytes.size() <= kLargestBinary) binaries.push_back(std::move(bytes));
  }
  return binaries;
}

std::vector<std::string> Converted(Format format) {
  std::vector<std::string> texts;
  for (const std::string& binary : Binaries()) {
    std::string text = As(binary, format);
    if (text.size() <= kLargestText) texts.push_back(std::move(text));
  }
  return texts;
}

std::unique_ptr<google::protobuf::Message> ParseAs(Container container, absl::string_view bytes) {
  std::unique_ptr<google::protobuf::Message> message;
  if (container == Container::kModule) message = std::make_unique<xla::HloModuleProto>();
  if (container == Container::kProto) message = std::make_unique<xla::HloProto>();
  if (container == Container::kSnapshot) message = std::make_unique<xla::HloSnapshot>();
  if (container == Container::kUnoptimizedSnapshot) {
    message = std::make_unique<xla::HloUnoptimizedSnapshot>();
  }
  if (container == Container::kModuleWithConfig) message = std::make_unique<xla::HloModuleProtoWithConfig>();
  if (message == nullptr || !message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return nullptr;
  return message;
}

// Mutates along the structure of the message, and of `other`'s if both are of one type.
std::string MutateProto(absl::string_view seed, absl::string_view other, RandomSource* random) {
  const std::optional<Container> container = ContainerOfBytes(seed);
  std::unique_ptr<google::protobuf::Message> message = container ? ParseAs(*container, seed) : nullptr;
  if (message == nullptr) {
    std::string bytes(seed);
    MutateBytes(other, random, &bytes);
    return bytes;
  }
  std::unique_ptr<google::protobuf::Message> beside = ParseAs(*container, other);
  MutateMessage(beside == nullptr ? *message : *beside, random, message.get());
  return message->SerializePartialAsString();
}

absl::Status Broken(absl::string_view promise, const absl::Status& status = absl::OkStatus()) {
  return absl::InternalError(absl::StrCat(promise, ": ", std::string(status.message())));
}

// Reads, and demands that the written module reads back as the same.
absl::StatusOr<HloFile> ReadAndReturn(const std::string& input, Format format) {
  ASSIGN_OR_RETURN(HloFile file, ReadHlo(input));
  absl::StatusOr<std::string> written = SerializeHlo(file, format);
  if (!written.ok()) return written.status();
  const absl::StatusOr<HloFile> again = ReadHlo(*written);
  if (!again.ok()) return Broken("what was written cannot be read", again.status());
  if (*SerializeHlo(*again, format) != *written) return Broken("what was written reads as something else");
  return file;
}

class ProtoTarget : public FuzzTarget {
 public:
  std::vector<std::string> Seeds() const override { return Binaries(); }
  std::string Mutate(absl::string_view seed, absl::string_view other, RandomSource* random) const override {
    std::string input = random->OneIn(3) ? std::string(seed) : MutateProto(seed, other, random);
    if (input == seed || random->OneIn(4)) MutateBytes(other, random, &input);
    return input;
  }
  absl::Status Execute(const std::string& input) const override {
    return ReadAndReturn(input, Format::kContainer).status();
  }
};

class TextTarget : public FuzzTarget {
 public:
  std::vector<std::string> Seeds() const override { return Texts(); }
  std::string Mutate(absl::string_view seed, absl::string_view other, RandomSource* random) const override {
    std::string input(seed);
    MutateText(other, HloTextWords(), random, &input);
    return input;
  }
  absl::Status Execute(const std::string& input) const override {
    return ReadAndReturn(input, Format::kHloText).status();
  }
};

class ProtoTextTarget : public FuzzTarget {
 public:
  std::vector<std::string> Seeds() const override { return Converted(Format::kProtoText); }
  std::string Mutate(absl::string_view seed, absl::string_view other, RandomSource* random) const override {
    std::string input(seed);
    MutateText(other, HloTextWords(), random, &input);
    return input;
  }
  absl::Status Execute(const std::string& input) const override { return ReadHlo(input).status(); }
};

class JsonTarget : public ProtoTextTarget {
 public:
  std::vector<std::string> Seeds() const override { return Converted(Format::kJson); }
};

class NpzTarget : public FuzzTarget {
 public:
  std::vector<std::string> Seeds() const override {
    // Two arrays, stored as numpy.savez writes them, except for checksums, which readers may ignore.
    std::vector<std::string> seeds;
    for (const absl::string_view type : {"<f4", "<i8", "|b1", "<c8", ">u2", "<V2", "<V1", "<f1"}) {
      seeds.push_back(Npy(type, "(2, 3)", 64));
      seeds.push_back(Npy(type, "()", 16));
    }
    return seeds;
  }
  std::string Mutate(absl::string_view seed, absl::string_view other, RandomSource* random) const override {
    std::string input(seed);
    if (random->OneIn(2)) MutateText(other, {}, random, &input);
    for (int64_t i = random->Below(3); i >= 0; --i) MutateBytes(other, random, &input);
    return random->OneIn(2) ? Archive(input, random) : input;
  }
  absl::Status Execute(const std::string& input) const override {
    if (LooksLikeNpz(input)) return ReadNpz(input).status();
    ASSIGN_OR_RETURN(const NpyArray array, ReadNpy(input));
    if (!array.untyped.empty())
      return AsType(array, ByteWidth(array.values.shape().element_type()) == 2 ? xla::BF16 : xla::F4E2M1FN)
          .status();
    const absl::StatusOr<NpyArray> again = ReadNpy(WriteNpy(array.values));
    if (!again.ok()) return Broken("what was written cannot be read", again.status());
    if (WriteNpy(again->values) != WriteNpy(array.values))
      return Broken("what was written reads as something else");
    return absl::OkStatus();
  }

 private:
  static std::string Npy(absl::string_view type, absl::string_view shape, int64_t bytes) {
    std::string header =
        absl::StrCat("{'descr': '", type, "', 'fortran_order': False, 'shape': ", shape, ", }");
    header.resize(118 - 1, ' ');
    return absl::StrCat(absl::string_view("\x93NUMPY\x01\x00\x76\x00", 10), header, "\n",
                        std::string(bytes, '\1'));
  }

  static std::string Little(uint64_t value, int width) {
    std::string bytes;
    for (int i = 0; i < width; ++i) bytes += static_cast<char>(value >> (8 * i));
    return bytes;
  }

  // A zip archive of one stored member, with most of its numbers right.
  static std::string Archive(absl::string_view member, RandomSource* random) {
    const auto number = [&](uint64_t value, int width) {
      return Little(random->OneIn(40) ? random->Integer() : value, width);
    };
    const auto common = [&] {
      return absl::StrCat(number(20, 2), number(0, 2), number(0, 2), number(0, 4), number(0, 4),
                          number(member.size(), 4), number(member.size(), 4), number(5, 2), number(0, 2));
    };
    const std::string local = absl::StrCat(absl::string_view("PK\3\4", 4), common(), "x.npy", member);
    const std::string directory =
        absl::StrCat(absl::string_view("PK\1\2", 4), number(20, 2), common(), number(0, 2), number(0, 2),
                     number(0, 2), number(0, 4), number(0, 4), "x.npy");
    return absl::StrCat(local, directory, absl::string_view("PK\5\6", 4), number(0, 4), number(1, 2),
                        number(1, 2), number(directory.size(), 4), number(local.size(), 4), number(0, 2));
  }
};

// HLO text inside gzip data: the text changed before compression, or the compressed bytes changed.
class GzipTarget : public TextTarget {
 public:
  std::vector<std::string> Seeds() const override {
    std::vector<std::string> seeds = Texts();
    for (std::string& seed : seeds) seed = *Gzip(seed);
    return seeds;
  }
  std::string Mutate(absl::string_view seed, absl::string_view other, RandomSource* random) const override {
    std::string input(seed);
    if (random->OneIn(4)) {
      input = *Gunzip(seed);
      MutateText(*Gunzip(other), HloTextWords(), random, &input);
      for (int64_t i = random->OneIn(8) ? random->Below(20) : 1; i > 0; --i) input = *Gzip(input);
    }
    for (int64_t i = random->Below(3); i > 0; --i) MutateBytes(other, random, &input);
    return input;
  }
  absl::Status Execute(const std::string& input) const override {
    ASSIGN_OR_RETURN(const std::string content, Gunzip(input, 1 << 24));
    return ReadHlo(content).status();
  }
};

// Modules of any form, changed as text or as messages.
class ModuleTarget : public FuzzTarget {
 public:
  std::vector<std::string> Seeds() const override {
    std::vector<std::string> seeds = Texts();
    for (std::string& binary : Binaries()) seeds.push_back(std::move(binary));
    return seeds;
  }
  std::string Mutate(absl::string_view seed, absl::string_view other, RandomSource* random) const override {
    if (ContainerOfBytes(seed).has_value()) return MutateProto(seed, other, random);
    std::string input(seed);
    MutateText(LooksLikeText(other) ? other : seed, HloTextWords(), random, &input);
    return input;
  }
};

class RunTarget : public ModuleTarget {
 public:
  absl::Status Execute(const std::string& input) const override {
    ASSIGN_OR_RETURN(const HloFile file, ReadHlo(input));
    RETURN_IF_ERROR(VerifyModule(*file.module));
    std::vector<Shape> shapes;
    int64_t bytes = 0;
    for (const Instruction* parameter : file.module->entry()->parameters()) {
      const Shape& shape = parameter->shape();
      if (!shape.IsArray() || shape.ByteSize() > kRunBytes || (bytes += shape.ByteSize()) > kRunBytes) {
        return absl::ResourceExhaustedError("large arguments");
      }
      shapes.push_back(shape);
    }
    ASSIGN_OR_RETURN(int64_t num_partitions, PartitionsOf(*file.module));
    if (num_partitions == 1 || num_partitions > kRunPartitions) num_partitions = kRunPartitions;
    std::vector<MeshValue> arguments;
    for (const Literal& literal : RandomLiterals(shapes, IndexBound(*file.module), 1)) {
      ASSIGN_OR_RETURN(MeshValue value, MeshValue::Uniform(literal, num_partitions));
      arguments.push_back(std::move(value));
    }
    RunOptions options;
    options.num_partitions = num_partitions;
    options.max_bytes = kRunBytes;
    const int32_t fed[] = {5, 6};  // The values that the op's program takes from its infeed.
    options.infeed = std::make_shared<LiteralInfeed>(std::vector<Literal>{Literal::Array<int32_t>({2}, fed)});
    options.max_steps = kRunSteps;
    options.threads = 1;
    return RunModule(*file.module, std::move(arguments), options).status();
  }
};

class PartitionTarget : public ModuleTarget {
 public:
  absl::Status Execute(const std::string& input) const override {
    ASSIGN_OR_RETURN(const HloFile file, ReadHlo(input));
    RETURN_IF_ERROR(VerifyModule(*file.module));
    ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(*file.module, PartitionOptions()));
    const absl::Status verified = VerifyModule(*partitioned.module);
    if (!verified.ok()) return Broken("the partitioned module does not verify", verified);
    for (const Module* module : {file.module.get(), partitioned.module.get()}) {
      ComputeModuleStats(*module);
      if (ComputeStatistics(*module).device.peak < 0) return Broken("the memory at peak is negative");
    }
    return absl::OkStatus();
  }
};

template <typename Target>
std::unique_ptr<FuzzTarget> Make() {
  return std::make_unique<Target>();
}

constexpr NamedFuzzTarget kTargets[] = {
    {"proto", "binary protos, read and written", Make<ProtoTarget>},
    {"text", "HLO text, read and written", Make<TextTarget>},
    {"pbtxt", "protobuf text, read", Make<ProtoTextTarget>},
    {"json", "JSON, read", Make<JsonTarget>},
    {"gzip", "compressed HLO text, read", Make<GzipTarget>},
    {"npz", "arrays of NumPy, read", Make<NpzTarget>},
    {"run", "modules of any form, verified and executed", Make<RunTarget>},
    {"partition", "modules of any form, verified and partitioned", Make<PartitionTarget>},
};

}  // namespace

absl::Span<const NamedFuzzTarget> FuzzTargets() { return kTargets; }

}  // namespace toroid
