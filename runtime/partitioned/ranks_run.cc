#include "runtime/partitioned/ranks_run.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "hlo/io/module_proto.h"

namespace toroid {
namespace {

// The run that rank 0 asks for, as numbers.
struct Job {
  int64_t num_replicas = 1, num_partitions = 1, max_steps = 0, num_arguments = 0, whole = 0;

  std::string ToText() const {
    return absl::StrCat(num_replicas, " ", num_partitions, " ", max_steps, " ", num_arguments, " ", whole);
  }
  static Job FromText(const std::string& text) {
    Job job;
    const std::vector<std::string> words = absl::StrSplit(text, ' ');
    int64_t* const members[] = {&job.num_replicas, &job.num_partitions, &job.max_steps, &job.num_arguments,
                                &job.whole};
    for (size_t i = 0; i < words.size() && i < 5; ++i) (void)absl::SimpleAtoi(words[i], members[i]);
    return job;
  }
};

constexpr char kEnd[] = "end";

// The structure of a buffer, in pre-order. A tuple is -1 and its size; an array is its bytes, whether it is
// uniform, and whether it has run-time sizes; if so, their structure follows.
void AppendForm(const MeshBuffer& buffer, std::vector<int64_t>* form) {
  if (buffer.is_tuple()) {
    form->insert(form->end(), {-1, static_cast<int64_t>(buffer.elements().size())});
    for (const MeshBuffer& element : buffer.elements()) AppendForm(element, form);
    return;
  }
  form->insert(form->end(), {buffer.bytes(), buffer.uniform(), buffer.sizes() != nullptr});
  if (buffer.sizes() != nullptr) AppendForm(*buffer.sizes(), form);
}

absl::Status MakeBuffer(absl::Span<const int64_t>* form, MeshBuffer* buffer) {
  const int64_t first = (*form)[0], second = (*form)[1];
  if (first < 0) {
    form->remove_prefix(2);
    *buffer = MeshBuffer::Tuple(static_cast<int>(second));
    for (int i = 0; i < second; ++i) RETURN_IF_ERROR(MakeBuffer(form, &buffer->mutable_element(i)));
    return absl::OkStatus();
  }
  const bool sized = (*form)[2] != 0;
  form->remove_prefix(3);
  *buffer = MeshBuffer::Array(first, second != 0);
  if (buffer->empty()) return absl::ResourceExhaustedError(absl::StrCat("out of memory (", first, " bytes)"));
  if (!sized) return absl::OkStatus();
  MeshBuffer sizes;
  RETURN_IF_ERROR(MakeBuffer(form, &sizes));
  buffer->set_sizes(std::move(sizes));
  return absl::OkStatus();
}

// Calls f for the bytes of every array, run-time sizes included.
template <typename F>
void ForEachArray(MeshBuffer& buffer, const F& f) {
  if (buffer.is_tuple()) {
    for (int i = 0; i < static_cast<int>(buffer.elements().size()); ++i)
      ForEachArray(buffer.mutable_element(i), f);
    return;
  }
  f(buffer);
  if (buffer.sizes() != nullptr) {
    MeshBuffer sizes = *buffer.sizes();
    f(sizes);
  }
}

absl::Status SendBytes(Transport& transport, int to, const char* data, int64_t bytes) {
  RETURN_IF_ERROR(
      transport.Wait(transport.StartSend(to, reinterpret_cast<const char*>(&bytes), sizeof(bytes))));
  return transport.Wait(transport.StartSend(to, data, bytes));
}

absl::Status ReceiveBytes(Transport& transport, int from, std::string* data) {
  int64_t bytes = 0;
  RETURN_IF_ERROR(
      transport.Wait(transport.StartReceive(from, reinterpret_cast<char*>(&bytes), sizeof(bytes))));
  data->resize(static_cast<size_t>(bytes));
  return transport.Wait(transport.StartReceive(from, data->data(), bytes));
}

absl::Status SendForm(Transport& transport, int to, const MeshBuffer& buffer) {
  std::vector<int64_t> form;
  AppendForm(buffer, &form);
  return SendBytes(transport, to, reinterpret_cast<const char*>(form.data()),
                   static_cast<int64_t>(form.size() * sizeof(int64_t)));
}

absl::StatusOr<std::vector<int64_t>> ReceiveForm(Transport& transport, int from) {
  std::string bytes;
  RETURN_IF_ERROR(ReceiveBytes(transport, from, &bytes));
  std::vector<int64_t> form(bytes.size() / sizeof(int64_t));
  std::memcpy(form.data(), bytes.data(), bytes.size());
  return form;
}

absl::Status SendArgument(Transport& transport, int to, MeshValue value) {
  const std::string shape = value.shape().ToProto().SerializeAsString();
  RETURN_IF_ERROR(SendBytes(transport, to, shape.data(), static_cast<int64_t>(shape.size())));
  RETURN_IF_ERROR(SendForm(transport, to, value.buffer()));
  std::vector<Transport::Ticket> tickets;
  ForEachArray(value.mutable_buffer(), [&](MeshBuffer& array) {
    tickets.push_back(transport.StartSend(to, array.data(), array.bytes()));
  });
  return WaitAll(transport, tickets);
}

absl::StatusOr<MeshValue> ReceiveArgument(Transport& transport, int64_t here) {
  std::string bytes;
  RETURN_IF_ERROR(ReceiveBytes(transport, 0, &bytes));
  xla::ShapeProto proto;
  proto.ParseFromString(bytes);
  ASSIGN_OR_RETURN(const Shape shape, Shape::FromProto(proto));
  ASSIGN_OR_RETURN(const std::vector<int64_t> form, ReceiveForm(transport, 0));
  absl::Span<const int64_t> rest = form;
  MeshBuffer buffer;
  RETURN_IF_ERROR(MakeBuffer(&rest, &buffer));
  std::vector<Transport::Ticket> tickets;
  ForEachArray(buffer, [&](MeshBuffer& array) {
    tickets.push_back(transport.StartReceive(0, array.mutable_data(), array.bytes()));
  });
  RETURN_IF_ERROR(WaitAll(transport, tickets));
  return MeshValue(shape, here, std::move(buffer));
}

// Sends the rows of all non-uniform arrays to rank 0.
absl::Status SendResult(Transport& transport, MeshValue value) {
  RETURN_IF_ERROR(SendForm(transport, 0, value.buffer()));
  std::vector<Transport::Ticket> tickets;
  ForEachArray(value.mutable_buffer(), [&](MeshBuffer& array) {
    if (!array.uniform()) tickets.push_back(transport.StartSend(0, array.data(), array.bytes()));
  });
  return WaitAll(transport, tickets);
}

// Enlarges rank 0's arrays to hold the rows of all devices, after its own rows.
absl::Status Widen(int64_t here, int64_t devices, MeshBuffer* buffer) {
  if (buffer->is_tuple()) {
    MeshBuffer tuple = MeshBuffer::Tuple(static_cast<int>(buffer->elements().size()));
    for (int i = 0; i < static_cast<int>(buffer->elements().size()); ++i) {
      tuple.mutable_element(i) = buffer->element(i);
      RETURN_IF_ERROR(Widen(here, devices, &tuple.mutable_element(i)));
    }
    *buffer = std::move(tuple);
    return absl::OkStatus();
  }
  MeshBuffer wide = *buffer;
  if (!buffer->uniform()) {
    const int64_t bytes = buffer->bytes() / here * devices;
    wide = MeshBuffer::Array(bytes, /*uniform=*/false);
    if (wide.empty()) return absl::ResourceExhaustedError(absl::StrCat("out of memory (", bytes, " bytes)"));
    std::memcpy(wide.mutable_data(), buffer->data(), buffer->bytes());
  }
  if (buffer->sizes() != nullptr) {
    MeshBuffer sizes = *buffer->sizes();
    RETURN_IF_ERROR(Widen(here, devices, &sizes));
    wide.set_sizes(std::move(sizes));
  }
  *buffer = std::move(wide);
  return absl::OkStatus();
}

absl::Status CollectResult(Transport& transport, int64_t devices, MeshBuffer* buffer) {
  const int64_t here = transport.ShareOf(0, devices).second;
  std::vector<int64_t> mine;
  AppendForm(*buffer, &mine);
  RETURN_IF_ERROR(Widen(here, devices, buffer));
  for (int rank = 1; rank < transport.size(); ++rank) {
    const auto [begin, end] = transport.ShareOf(rank, devices);
    ASSIGN_OR_RETURN(const std::vector<int64_t> theirs, ReceiveForm(transport, rank));
    bool same = mine.size() == theirs.size();
    for (size_t i = 0; i < mine.size() && same;) {
      const bool tuple = mine[i] < 0, uniform = !tuple && mine[i + 1] != 0;
      const int64_t expected = tuple || uniform ? mine[i] : mine[i] / here * (end - begin);
      same = theirs[i] == expected && mine[i + 1] == theirs[i + 1] && (tuple || mine[i + 2] == theirs[i + 2]);
      i += tuple ? 2 : 3;
    }
    if (!same) {
      return absl::InternalError(absl::StrCat("rank ", rank,
                                              " has a result of another structure than rank 0; "
                                              "this is a defect of the runtime"));
    }
    std::vector<Transport::Ticket> tickets;
    ForEachArray(*buffer, [&](MeshBuffer& array) {
      if (array.uniform()) return;
      const int64_t row = array.bytes() / devices;
      tickets.push_back(
          transport.StartReceive(rank, array.mutable_data() + begin * row, (end - begin) * row));
    });
    RETURN_IF_ERROR(WaitAll(transport, tickets));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MeshValue> RunOnRanks(const Module& module, ArgumentOfDevices argument,
                                     const RunOptions& options, bool whole, double* seconds) {
  Transport& transport = *options.transport;
  const int64_t devices = options.num_devices();
  Job job;
  job.num_replicas = options.num_replicas, job.num_partitions = options.num_partitions;
  job.max_steps = options.max_steps, job.num_arguments = module.entry()->num_parameters(), job.whole = whole;
  std::string text = job.ToText(), bytes;
  AppendModuleProto(module, &bytes);
  RETURN_IF_ERROR(transport.Broadcast(&text));
  RETURN_IF_ERROR(transport.Broadcast(&bytes));
  std::vector<MeshValue> arguments;
  for (int i = 0; i < job.num_arguments; ++i) {
    for (int rank = transport.size() - 1; rank >= 0; --rank) {
      const auto [begin, end] = transport.ShareOf(rank, devices);
      ASSIGN_OR_RETURN(MeshValue value, argument(i, begin, end));
      if (rank == 0) {
        arguments.push_back(std::move(value));
      } else {
        RETURN_IF_ERROR(SendArgument(transport, rank, std::move(value)));
      }
    }
  }
  bytes = std::string();
  const Stopwatch stopwatch;
  ASSIGN_OR_RETURN(MeshValue result, RunModule(module, std::move(arguments), options));
  if (seconds != nullptr) *seconds = stopwatch.Seconds();
  if (!whole) return result;
  const Shape shape = result.shape();
  MeshBuffer buffer = std::move(result.mutable_buffer());
  RETURN_IF_ERROR(CollectResult(transport, devices, &buffer));
  return MeshValue(shape, devices, std::move(buffer));
}

absl::Status ServeRuns(const RunOptions& options) {
  Transport& transport = *options.transport;
  while (true) {
    std::string text, bytes;
    RETURN_IF_ERROR(transport.Broadcast(&text));
    if (text == kEnd) return absl::OkStatus();
    RETURN_IF_ERROR(transport.Broadcast(&bytes));
    const Job job = Job::FromText(text);
    RunOptions run = options;
    run.num_replicas = job.num_replicas, run.num_partitions = job.num_partitions,
    run.max_steps = job.max_steps;
    ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, ReadModuleProto(bytes));
    bytes = std::string();
    const auto [begin, end] = transport.ShareOf(transport.rank(), run.num_devices());
    std::vector<MeshValue> arguments;
    for (int64_t i = 0; i < job.num_arguments; ++i) {
      ASSIGN_OR_RETURN(MeshValue value, ReceiveArgument(transport, end - begin));
      arguments.push_back(std::move(value));
    }
    ASSIGN_OR_RETURN(MeshValue result, RunModule(*module, std::move(arguments), run));
    if (job.whole != 0) RETURN_IF_ERROR(SendResult(transport, std::move(result)));
  }
}

absl::Status EndRuns(Transport& transport) {
  std::string text = kEnd;
  return transport.Broadcast(&text);
}

}  // namespace toroid
