// JSON, trace, summary and sweep of one prediction.
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/time_text.h"
#include "nlohmann/json.hpp"
#include "simulator/report/group_text.h"
#include "simulator/report/page.h"
#include "simulator/report/prediction_json.h"
#include "simulator/report/summary.h"
#include "simulator/report/sweep.h"
#include "simulator/report/trace.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kMillisecond = 1000000000;

// A dot that runs twice for 3 ms, an all-to-all of 4 ms.
Prediction Example() {
  Prediction prediction;
  prediction.module = "layer";
  prediction.machine = "tpu-v3-8";
  prediction.devices = 8;
  prediction.step_ps = 10 * kMillisecond;
  prediction.roofline_ps = 5 * kMillisecond;
  prediction.communication_share = 0.4;
  prediction.breakdown = {{"dot", 6e9}, {"all-to-all", 4e9}};
  PredictedGroup dot;
  dot.instruction = "main/dot.1";
  dot.opcode = "dot";
  dot.op_class = "dot";
  dot.bound = "matrix";
  dot.source = "train.py:41";
  dot.op_name = "jit(f)/</script><b>\"q\"";
  dot.picoseconds = 3 * kMillisecond;
  dot.roofline_ps = 2 * kMillisecond;
  dot.executions = 2;
  dot.unit_ps = {2 * kMillisecond, kMillisecond, 0, 0};
  dot.windows = 4;
  dot.rules = {"product_epilogue"};
  prediction.groups = {dot};
  PredictedCollective exchange;
  exchange.instruction = "main/all-to-all.2";
  exchange.kind = "all-to-all";
  exchange.algorithm = "direct";
  exchange.picoseconds = 4 * kMillisecond;
  exchange.bytes = 8 << 20;
  exchange.link_load = 0;
  prediction.collectives = {exchange};
  prediction.events = {{0, 3 * kMillisecond, Stream::kCompute, 0},
                       {3 * kMillisecond, 4 * kMillisecond, Stream::kCommunication, 0},
                       {7 * kMillisecond, 3 * kMillisecond, Stream::kCompute, 0}};
  prediction.network = {{2, 2}, {false, false}, {false, false}, 2, 0.3, 0.1, {{0.25, -1, 0.75, -1}}};
  prediction.memory.capacity = 16000000000;
  prediction.memory.peak = 5000000000;
  prediction.memory.parameters = 5000000000;
  prediction.memory.peak_at = "main/dot.1";
  prediction.memory.largest = {
      {"main/w", "f32[1000000]", "parameters", "train.py:12", "params['w']", 4000000}};
  prediction.memory.samples = {{0, {1000, 0, 0, 0, 0}}, {3 * kMillisecond, {1000, 400, 300, 200, 100}}};
  return prediction;
}

TEST(PredictionJsonTest, TimesAreSecondsOfAllExecutions) {
  const nlohmann::json json = PredictionJson(Example());
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_DOUBLE_EQ(json["step_seconds"].get<double>(), 0.01);
  EXPECT_DOUBLE_EQ(json["breakdown"]["dot"].get<double>(), 0.006);
  EXPECT_DOUBLE_EQ(json["groups"][0]["seconds"].get<double>(), 0.006);
  EXPECT_DOUBLE_EQ(json["groups"][0]["share"].get<double>(), 0.6);
  EXPECT_EQ(json["collectives"][0]["algorithm"], "direct");
  EXPECT_EQ(json["memory"]["peak"], 5000000000);
}

TEST(PredictionJsonTest, AGroupSaysWhatEachUnitWouldTake) {
  const nlohmann::json group = PredictionJson(Example())["groups"][0];
  EXPECT_DOUBLE_EQ(group["unit_seconds"]["matrix"].get<double>(), 0.004);
  EXPECT_DOUBLE_EQ(group["unit_seconds"]["vector"].get<double>(), 0.002);
  EXPECT_EQ(group["windows"], 4);
}

TEST(GroupsTextTest, AGroupIsExplainedByItsUnitsAndTheSentencesOfItsRules) {
  ASSERT_OK_AND_ASSIGN(const std::string text, GroupsText(Example(), "train.py:41"));
  EXPECT_THAT(text, HasSubstr("3.00 ms, 2 times a step; roofline 2.00 ms (66.7 %); bound by matrix"));
  EXPECT_THAT(text, HasSubstr("alone: matrix 2.00 ms, vector 1.00 ms; 4 windows"));
  EXPECT_THAT(text, HasSubstr("rule product_epilogue: A product takes"));
  EXPECT_THAT(text, Not(HasSubstr("all-to-all")));
  ASSERT_OK_AND_ASSIGN(const std::string all, GroupsText(Example(), ""));
  EXPECT_THAT(all, HasSubstr("main/all-to-all.2  all-to-all"));
}

TEST(GroupsTextTest, WhatNothingIsCalledIsAnErrorThatNamesTheCostliest) {
  const absl::Status status = GroupsText(Example(), "no such line").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("the costliest group is main/dot.1"));
}

// By thread, as a viewer shows them: thread 0 and the process's own number mean something else there.
std::map<int, std::vector<nlohmann::json>> SlicesByThread(const nlohmann::json& trace) {
  std::map<int, std::vector<nlohmann::json>> slices;
  for (const nlohmann::json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    EXPECT_GT(event["tid"].get<int>(), event["pid"].get<int>());
    slices[event["tid"].get<int>()].push_back(event);
  }
  return slices;
}

TEST(TraceTest, EveryEventIsThereAndParses) {
  const nlohmann::json trace = nlohmann::json::parse(TraceText(Example()));
  const auto slices = SlicesByThread(trace);
  ASSERT_EQ(slices.size(), 4u);  // The step, what it is spent on, compute, communication.
  EXPECT_EQ(slices.at(10)[0]["name"], "10.0 ms a step: 60 % bound by matrix, 40 % exposed communication");
  EXPECT_EQ(slices.at(10)[0]["dur"], 10000);
  ASSERT_EQ(slices.at(11).size(), 3u);
  EXPECT_EQ(slices.at(11)[1]["name"], "exposed communication");
  EXPECT_EQ(slices.at(12).size() + slices.at(13).size(), 3u);
  EXPECT_EQ(slices.at(12)[0]["name"], "dot");
  EXPECT_EQ(slices.at(12)[0]["args"]["instruction"], "main/dot.1");
  EXPECT_EQ(slices.at(13)[0]["dur"], 4000);
  EXPECT_TRUE(absl::c_any_of(trace["traceEvents"], [](const nlohmann::json& event) {
    return event["ph"] == "C" && event["name"] == "link chip 0 +y";
  }));
}

TEST(TraceTest, AStepWithoutWorkIsSpentOnNothing) {
  const auto slices = SlicesByThread(nlohmann::json::parse(TraceText(Prediction())));
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_EQ(slices.at(10)[0]["name"], "0.00 ns a step");
}

// Perfetto drops a slice that begins a nanosecond before the one before it ends.
TEST(TraceTest, SlicesThatFollowEachOtherDoNotOverlapInNanoseconds) {
  Prediction prediction = Example();
  prediction.events.clear();
  for (int i = 0; i < 1000; ++i)
    prediction.events.push_back({int64_t{1234567} * i, 1234567, Stream::kCompute, 0});
  prediction.step_ps = 1234567000;
  int64_t end = 0;
  const auto slices = SlicesByThread(nlohmann::json::parse(TraceText(prediction)));
  for (const nlohmann::json& slice : slices.at(12)) {
    const auto nanoseconds = [&](const char* key) { return std::llround(slice[key].get<double>() * 1000); };
    EXPECT_EQ(nanoseconds("ts"), end);
    end = nanoseconds("ts") + nanoseconds("dur");
  }
  EXPECT_EQ(end, 1234567);
}

TEST(SummaryTest, CostliestSourceLineStandsFirst) {
  const std::string text = SummaryText(Example(), 100);
  EXPECT_THAT(text, HasSubstr("layer on 8 cores of tpu-v3-8: 10.0 ms a step, 40.0 % of it communication"));
  EXPECT_LT(text.find("train.py:41"), text.find("main/all-to-all.2"));
  EXPECT_THAT(text, Not(HasSubstr("DOES NOT FIT")));
}

TEST(SummaryTest, WhatIsHiddenCostsNoLineItsTime) {
  Prediction prediction = Example();
  prediction.collectives[0].source = "exchange.py:7";
  prediction.collectives[0].picoseconds = 8 * kMillisecond;
  PredictedCollective copy = prediction.collectives[0];
  copy.kind = kToHostKind;
  copy.source = "offload.py:9";
  copy.picoseconds = 30 * kMillisecond;
  prediction.collectives.push_back(copy);
  prediction.communication_ps = 8 * kMillisecond;
  prediction.exposed_communication_ps = 4 * kMillisecond;
  prediction.host_ps = 30 * kMillisecond;
  const std::string text = SummaryText(prediction, 100);
  // 6 ms of products, half of the 8 ms, nothing of the copy.
  EXPECT_LT(text.find("train.py:41"), text.find("exchange.py:7"));
  EXPECT_THAT(text, ContainsRegex("exchange.py:7 +4.00 ms"));
  EXPECT_THAT(text, Not(HasSubstr("offload.py:9")));
}

TEST(SummaryTest, WhatDoesNotFitIsNamedWithWhatHoldsMost) {
  Prediction prediction = Example();
  prediction.memory.capacity = 4000000000;
  EXPECT_THAT(SummaryText(prediction, 100),
              testing::AllOf(HasSubstr("DOES NOT FIT: 1.0 GB too much"), HasSubstr("params['w']"),
                             HasSubstr("train.py:12")));
}

TEST(TimeTextTest, TimesHaveThreeDigits) {
  EXPECT_EQ(TimeText(1.2345), "1.23 s");
  EXPECT_EQ(TimeText(12.345e-3), "12.3 ms");
  EXPECT_EQ(TimeText(123.45e-6), "123 us");
  EXPECT_EQ(TimeText(999.96e-6), "1.00 ms");
  EXPECT_EQ(TimeText(0.5e-9), "0.50 ns");
  EXPECT_EQ(TimeText(0), "0.00 ns");
}

TEST(PageTest, DataCannotEndItsScript) {
  const std::string page = PageText(Example());
  EXPECT_THAT(page, Not(HasSubstr("</script><b>")));
  EXPECT_THAT(page, HasSubstr("\\u003c/script>"));
  EXPECT_THAT(page, Not(HasSubstr("/*DATA*/")));
  EXPECT_THAT(page, Not(HasSubstr("src=\"http")));
}

TEST(SweepTest, AxesAreParsed) {
  ASSERT_OK_AND_ASSIGN(const SweepAxis numbers, ParseSweepAxis("network.link_bytes_per_second=1e9,2e9"));
  EXPECT_EQ(numbers.name, "network.link_bytes_per_second");
  EXPECT_THAT(numbers.values, ElementsAre("1e9", "2e9"));
  ASSERT_OK_AND_ASSIGN(const SweepAxis shards, ParseSweepAxis("shard=w={devices=[8,1]<=[8]}|w={replicated}"));
  EXPECT_THAT(shards.values, ElementsAre("w={devices=[8,1]<=[8]}", "w={replicated}"));
  for (const char* bad : {"", "x", "x=", "=1", "x=1,,2"}) EXPECT_FALSE(ParseSweepAxis(bad).ok()) << bad;
}

TEST(SweepTest, EveryCombinationIsARowOfTheTable) {
  const auto predict = [](const std::vector<std::string>& values) -> absl::StatusOr<Prediction> {
    Prediction prediction = Example();
    prediction.step_ps *= std::stoi(values[0]) + std::stoi(values[1]);
    return prediction;
  };
  ASSERT_OK_AND_ASSIGN(const Sweep sweep, RunSweep({{"a", {"1", "2"}}, {"b", {"10", "20", "30"}}}, predict));
  ASSERT_EQ(sweep.points.size(), 6);
  EXPECT_THAT(sweep.points[1].values, ElementsAre("1", "20"));
  EXPECT_EQ(sweep.points[5].prediction.step_ps, 320 * kMillisecond);
  const std::string csv = SweepCsv(sweep);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 7);
  EXPECT_THAT(csv, HasSubstr("a,b,machine_name,devices,step_seconds"));
  EXPECT_THAT(csv, HasSubstr("1,20,tpu-v3-8,8,0.21,"));
  EXPECT_THAT(SweepPage(sweep), Not(HasSubstr("/*DATA*/")));
}

TEST(SweepTest, TooManyCombinationsAndNamesTwiceAreRefused) {
  const auto predict = [](const std::vector<std::string>&) -> absl::StatusOr<Prediction> {
    return Example();
  };
  const std::vector<std::string> many(200, "1");
  EXPECT_THAT(RunSweep({{"a", many}, {"b", many}}, predict).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("40000 combinations")));
  EXPECT_THAT(RunSweep({{"a", {"1"}}, {"a", {"2"}}}, predict).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a twice")));
}

}  // namespace
}  // namespace toroid
