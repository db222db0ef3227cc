// BUILD: size = "small"
// Collectives on random meshes of replicas and partitions, in every group mode, against their definitions.
#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "tests/runtime/evaluate.h"
#include "tests/runtime/kernels/index_loops.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

enum class Mode { kCrossReplica, kCrossReplicaAndPartition, kCrossPartition, kFlattened };

// A mesh, groups of a mode's ids, and the devices that meet.
struct Meeting {
  int64_t replicas, partitions;
  std::string attributes;
  std::vector<Index> groups;  // Devices r * partitions + p, in group order.
  int64_t size = 1;           // Devices in each group.

  // `flagged`: the op has use_global_device_ids.
  Meeting(std::mt19937_64& random, bool flagged) : replicas(1 + random() % 4), partitions(1 + random() % 4) {
    const Mode mode = static_cast<Mode>(flagged ? (random() % 3 == 0   ? 0
                                                   : random() % 2 == 0 ? 1
                                                                       : 3)
                                                : (random() % 2 == 0 ? 0 : 2));
    const int64_t ids = mode == Mode::kFlattened        ? replicas * partitions
                        : mode == Mode::kCrossPartition ? partitions
                                                        : replicas;
    Index divisors;
    for (int64_t n = 1; n <= ids; ++n) {
      if (ids % n == 0) divisors.push_back(n);
    }
    const int64_t members = divisors[random() % divisors.size()];
    Index order(ids);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::string> texts;
    for (int64_t first = 0; first < ids; first += members) {
      const Index group(order.begin() + first, order.begin() + first + members);
      texts.push_back(Braces(group));
      AddDevices(mode, group);
    }
    attributes = absl::StrCat(", replica_groups={", absl::StrJoin(texts, ","), "}",
                              mode == Mode::kCrossReplica ? "" : ", channel_id=1",
                              mode == Mode::kFlattened ? ", use_global_device_ids=true" : "");
    size = static_cast<int64_t>(groups[0].size());
  }

  void AddDevices(Mode mode, const Index& group) {
    if (mode == Mode::kFlattened) {
      groups.push_back(group);
    } else if (mode == Mode::kCrossReplica) {
      for (int64_t p = 0; p < partitions; ++p) {
        groups.emplace_back();
        for (const int64_t r : group) groups.back().push_back(r * partitions + p);
      }
    } else if (mode == Mode::kCrossPartition) {
      for (int64_t r = 0; r < replicas; ++r) {
        groups.emplace_back();
        for (const int64_t p : group) groups.back().push_back(r * partitions + p);
      }
    } else {
      groups.emplace_back();
      for (const int64_t r : group) {
        for (int64_t p = 0; p < partitions; ++p) groups.back().push_back(r * partitions + p);
      }
    }
  }

  int64_t devices() const { return replicas * partitions; }
};

// Each device holds different numbers.
std::vector<Literal> Values(const Meeting& m, const Index& dims) {
  std::vector<Literal> values;
  for (int64_t device = 0; device < m.devices(); ++device)
    values.push_back(Numbered(dims, static_cast<int>(1000 * device)));
  return values;
}

// Runs `y = RESULT OP(x)ATTRIBUTES`; expected(group, member, index) is an element of a member's result.
template <typename Expected>
void ExpectExchanged(const Meeting& m, const std::vector<Literal>& x, const Index& result,
                     const std::string& op, const std::string& attributes, Expected expected) {
  const std::string text =
      absl::StrCat("x = ", x[0].shape().ToString(), " parameter(0) ROOT y = s32[", absl::StrJoin(result, ","),
                   "] ", op, "(x)", attributes, m.attributes);
  SCOPED_TRACE(absl::StrCat(text, " on ", m.replicas, " x ", m.partitions));
  ASSERT_OK_AND_ASSIGN(
      const std::vector<Literal> y,
      RunOnDevices(*MakeModule(text, ReducerText("f", "s32", "add")), {x}, m.partitions, m.replicas));
  for (const Index& group : m.groups) {
    for (int64_t member = 0; member < m.size; ++member) {
      for (int64_t i = 0; i < Count(result); ++i) {
        ASSERT_EQ(y[group[member]].data<int32_t>()[i], expected(group, member, IndexOf(result, i)))
            << "device " << group[member] << " element " << i;
      }
    }
  }
}

int32_t At(const Literal& x, const Index& dims, const Index& index) {
  return x.data<int32_t>()[Offset(dims, index)];
}

TEST(CollectivesRandomTest, ReducingOps) {
  std::mt19937_64 random(111);
  for (int round = 0; round < 60; ++round) {
    const Meeting m(random, /*flagged=*/true);
    const size_t d = random() % 2;
    Index dims = {static_cast<int64_t>(1 + random() % 3), static_cast<int64_t>(1 + random() % 3)};
    dims[d] *= m.size;
    const std::vector<Literal> x = Values(m, dims);
    const auto sum = [&](const Index& group, const Index& at) {
      int32_t total = 0;
      for (const int64_t device : group) total += At(x[device], dims, at);
      return total;
    };
    ExpectExchanged(m, x, dims, "all-reduce", ", to_apply=f",
                    [&](const Index& group, int64_t, const Index& at) { return sum(group, at); });
    Index block = dims;
    block[d] /= m.size;
    ExpectExchanged(m, x, block, "reduce-scatter", absl::StrCat(", to_apply=f, dimensions={", d, "}"),
                    [&](const Index& group, int64_t member, Index at) {
                      at[d] += member * block[d];
                      return sum(group, at);
                    });
    Index all = dims;
    all[d] *= m.size;
    ExpectExchanged(m, x, all, "all-gather", absl::StrCat(", dimensions={", d, "}"),
                    [&](const Index& group, int64_t, Index at) {
                      const int64_t from = at[d] / dims[d];
                      at[d] %= dims[d];
                      return At(x[group[from]], dims, at);
                    });
  }
}

TEST(CollectivesRandomTest, ExchangingOps) {
  std::mt19937_64 random(112);
  for (int round = 0; round < 60; ++round) {
    const Meeting m(random, /*flagged=*/false);
    const size_t d = random() % 2;
    Index dims = {static_cast<int64_t>(1 + random() % 3), static_cast<int64_t>(1 + random() % 3)};
    const int64_t block = dims[d];
    dims[d] *= m.size;
    const std::vector<Literal> x = Values(m, dims);
    ExpectExchanged(m, x, dims, "all-to-all", absl::StrCat(", dimensions={", d, "}"),
                    [&](const Index& group, int64_t member, Index at) {
                      const int64_t from = at[d] / block;
                      at[d] = member * block + at[d] % block;
                      return At(x[group[from]], dims, at);
                    });
    ExpectExchanged(m, x, dims, "collective-broadcast", "",
                    [&](const Index& group, int64_t, const Index& at) { return At(x[group[0]], dims, at); });
  }
}

// Some of n devices send, each to a different target or to itself.
struct Permutation {
  Permutation(std::mt19937_64& random, int64_t n) : source_of(n, -1) {
    Index sources(n), targets(n);
    std::iota(sources.begin(), sources.end(), 0);
    targets = sources;
    std::shuffle(sources.begin(), sources.end(), random);
    std::shuffle(targets.begin(), targets.end(), random);
    std::vector<std::string> each;
    for (int64_t i = random() % (n + 1); i-- > 0;) {
      each.push_back(absl::StrCat("{", sources[i], ",", targets[i], "}"));
      source_of[targets[i]] = sources[i];
    }
    pairs = absl::StrCat("{", absl::StrJoin(each, ","), "}");
  }

  std::string pairs;  // "{{0,2},{1,1}}"
  Index source_of;    // By target; -1 if no device sends to it.
};

TEST(CollectivesRandomTest, PermutationsWithAndWithoutSources) {
  std::mt19937_64 random(113);
  for (int round = 0; round < 40; ++round) {
    const int64_t n = 1 + random() % 6;
    const Permutation p(random, n);
    std::vector<Literal> x;
    for (int64_t device = 0; device < n; ++device)
      x.push_back(Numbered({3}, static_cast<int>(10 * device + 1)));
    const std::string text = absl::StrCat(
        "x = s32[3] parameter(0) ROOT y = s32[3] collective-permute(x), channel_id=1, source_target_pairs=",
        p.pairs);
    SCOPED_TRACE(text);
    ASSERT_OK_AND_ASSIGN(const std::vector<Literal> y, RunOnDevices(*MakeModule(text), {x}, n));
    for (int64_t device = 0; device < n; ++device) {
      for (int64_t i = 0; i < 3; ++i) {
        ASSERT_EQ(y[device].data<int32_t>()[i],
                  p.source_of[device] < 0 ? 0 : 10 * p.source_of[device] + 1 + i);
      }
    }
  }
}

TEST(CollectivesRandomTest, MessagesGoFromSourceToTarget) {
  std::mt19937_64 random(126);
  for (int round = 0; round < 40; ++round) {
    const int64_t n = 1 + random() % 6;
    const Permutation p(random, n);
    const std::string attribute = absl::StrCat(
        "channel_id=3, frontend_attributes={_xla_send_recv_source_target_pairs=\"", p.pairs, "\"}");
    const std::string text = absl::StrCat(
        "x = s32[2] parameter(0) t = token[] after-all() s = (s32[2], u32[], token[]) send(x, t), ",
        attribute, " r = (s32[2], u32[], token[]) recv(t), ", attribute,
        " e = token[] send-done(s), channel_id=3 "
        "d = (s32[2], token[]) recv-done(r), channel_id=3 ROOT y = s32[2] get-tuple-element(d), index=0");
    SCOPED_TRACE(text);
    std::vector<Literal> x;
    for (int64_t device = 0; device < n; ++device)
      x.push_back(Numbered({2}, static_cast<int>(10 * device + 1)));
    ASSERT_OK_AND_ASSIGN(const std::vector<Literal> y, RunOnDevices(*MakeModule(text), {x}, n));
    const Literal nothing(x[0].shape());
    for (int64_t device = 0; device < n; ++device) {
      EXPECT_EQ(y[device], p.source_of[device] < 0 ? nothing : x[p.source_of[device]]) << "device " << device;
    }
  }
}

// The start and done forms of an op give the result of the plain op.
TEST(CollectivesRandomTest, AsynchronousFormsAreTheSynchronousOnes) {
  std::mt19937_64 random(114);
  for (int round = 0; round < 30; ++round) {
    const Meeting m(random, /*flagged=*/true);
    const std::vector<Literal> x = Values(m, {2, 3});
    const std::string gathered = absl::StrCat("s32[", 2 * m.size, ",3]");
    const auto run = [&](const std::string& body) {
      return RunOnDevices(*MakeModule("x = s32[2,3] parameter(0) " + body, ReducerText("f", "s32", "add")),
                          {x}, m.partitions, m.replicas);
    };
    const std::pair<std::string, std::string> forms[] = {
        {absl::StrCat("ROOT y = s32[2,3] all-reduce(x), to_apply=f", m.attributes),
         absl::StrCat("s = s32[2,3] all-reduce-start(x), to_apply=f", m.attributes,
                      " ROOT y = s32[2,3] all-reduce-done(s)")},
        {absl::StrCat("ROOT y = ", gathered, " all-gather(x), dimensions={0}", m.attributes),
         absl::StrCat("s = (s32[2,3], ", gathered, ") all-gather-start(x), dimensions={0}", m.attributes,
                      " ROOT y = ", gathered, " all-gather-done(s)")},
    };
    for (const auto& [at_once, apart] : forms) {
      SCOPED_TRACE(apart);
      ASSERT_OK_AND_ASSIGN(const std::vector<Literal> expected, run(at_once));
      ASSERT_OK_AND_ASSIGN(const std::vector<Literal> y, run(apart));
      EXPECT_EQ(y, expected);
    }
  }
}

std::vector<Literal> Vectors(const std::vector<Index>& values) {
  std::vector<Literal> literals;
  for (const Index& value : values) {
    Literal literal(Shape(xla::S32, {static_cast<int64_t>(value.size())}));
    std::copy(value.begin(), value.end(), literal.mutable_data<int32_t>().begin());
    literals.push_back(std::move(literal));
  }
  return literals;
}

TEST(CollectivesRandomTest, RaggedRowsGoWhereTheSenderSays) {
  std::mt19937_64 random(115);
  for (int round = 0; round < 60; ++round) {
    const int64_t n = 1 + random() % 5, width = 1 + random() % 3;
    // Device i has size[i][j] rows for device j, in the order of j with gaps, and knows their targets.
    std::vector<Index> size(n, Index(n)), from(n, Index(n)), to(n, Index(n)), receive(n, Index(n));
    int64_t in_rows = 1, out_rows = 1;
    for (int64_t i = 0; i < n; ++i) {
      int64_t at = random() % 2;
      for (int64_t j = 0; j < n; ++j) {
        size[i][j] = receive[j][i] = random() % 4;
        from[i][j] = at;
        at += size[i][j] + random() % 2;
      }
      in_rows = std::max(in_rows, at);
    }
    for (int64_t j = 0; j < n; ++j) {
      Index senders(n);
      std::iota(senders.begin(), senders.end(), 0);
      std::shuffle(senders.begin(), senders.end(), random);
      int64_t at = 0;
      for (const int64_t i : senders) {
        at += random() % 2;
        to[i][j] = at;
        at += size[i][j];
      }
      out_rows = std::max(out_rows, at);
    }
    std::vector<Literal> x, o;
    for (int64_t device = 0; device < n; ++device) {
      x.push_back(Numbered({in_rows, width}, static_cast<int>(1000 * device)));
      o.push_back(Numbered({out_rows, width}, static_cast<int>(-1000 * (device + 1))));
    }
    Index all(n);
    std::iota(all.begin(), all.end(), 0);
    const std::string in = x[0].shape().ToString(), out = o[0].shape().ToString(),
                      list = absl::StrCat("s32[", n, "]");
    const std::string text = absl::StrCat(
        "x = ", in, " parameter(0) o = ", out, " parameter(1) a = ", list, " parameter(2) b = ", list,
        " parameter(3) c = ", list, " parameter(4) d = ", list, " parameter(5) ROOT y = ", out,
        " ragged-all-to-all(x, o, a, b, c, d), channel_id=1, replica_groups={", Braces(all), "}");
    SCOPED_TRACE(text);
    ASSERT_OK_AND_ASSIGN(
        const std::vector<Literal> y,
        RunOnDevices(*MakeModule(text), {x, o, Vectors(from), Vectors(size), Vectors(to), Vectors(receive)},
                     n));
    for (int64_t j = 0; j < n; ++j) {
      Literal expected = o[j];
      for (int64_t i = 0; i < n; ++i) {
        const auto rows = x[i].data<int32_t>().subspan(from[i][j] * width, size[i][j] * width);
        std::copy(rows.begin(), rows.end(), expected.mutable_data<int32_t>().begin() + to[i][j] * width);
      }
      EXPECT_EQ(y[j], expected) << "device " << j;
    }
  }
}

}  // namespace
}  // namespace toroid
