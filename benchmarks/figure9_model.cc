#include "benchmarks/figure9_model.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "Eigen/Core"
#include "absl/strings/str_cat.h"
#include "examples/moe/published.h"
#include "hlo/base/status.h"
#include "simulator/collectives/axis_rings.h"
#include "simulator/collectives/collective_simulator.h"
#include "simulator/collectives/group_box.h"
#include "simulator/machines/machine.h"
#include "simulator/machines/router_tables.h"
#include "unsupported/Eigen/NonLinearOptimization"
#include "unsupported/Eigen/NumericalDiff"

namespace toroid {
namespace {

constexpr Bytes kMiB = 1 << 20;

constexpr int kSizes = std::size(kFigure9);

// A size's inputs to the fits.
struct SizeModel {
  NetworkSpec network;
  double all_to_all_seconds[2];  // For 8 and 32 MiB, without the cost of a collective.
  RingAxis first, second;
  int64_t colors;
};

std::vector<Figure9Point> Points(const PublishedExchanges& size) {
  return {{size.cores, CollectiveKind::kAllToAll, 8 * kMiB, size.all_to_all_8, 0, ""},
          {size.cores, CollectiveKind::kAllToAll, 32 * kMiB, size.all_to_all_32, 0, ""},
          {size.cores, CollectiveKind::kAllReduce, 8 * kMiB, size.all_reduce_8, 0, ""},
          {size.cores, CollectiveKind::kAllReduce, 32 * kMiB, size.all_reduce_32, 0, ""}};
}

DeviceGroups AllCores(int64_t cores) {
  std::vector<int64_t> ids(cores);
  std::iota(ids.begin(), ids.end(), 0);
  DeviceGroups groups;
  groups.Append(ids);
  return groups;
}

absl::StatusOr<std::unique_ptr<CollectiveSimulator>> SimulatorOf(const Machine& machine) {
  std::vector<int64_t> cores(machine.cores());
  std::iota(cores.begin(), cores.end(), 0);
  return CollectiveSimulator::Create(machine.family.network(), machine.slice, machine.family.cores_per_chip(),
                                     RouterTableOf(machine.family.network()), cores);
}

absl::StatusOr<std::vector<Figure9Point>> SimulateSize(const PublishedExchanges& size) {
  ASSIGN_OR_RETURN(const Machine machine, LoadMachine(absl::StrCat("tpu-v3-", size.cores)));
  ASSIGN_OR_RETURN(const auto simulator, SimulatorOf(machine));
  std::vector<Figure9Point> points = Points(size);
  for (Figure9Point& point : points) {
    ASSIGN_OR_RETURN(const CollectiveEstimate e,
                     simulator->Estimate(point.kind, point.bytes, AllCores(size.cores)));
    point.our_microseconds = SecondsOf(e.time) * 1e6;
    point.algorithm = e.algorithm;
  }
  return points;
}

absl::StatusOr<SizeModel> ModelOf(const PublishedExchanges& size) {
  ASSIGN_OR_RETURN(const Machine machine, LoadMachine(absl::StrCat("tpu-v3-", size.cores)));
  ASSIGN_OR_RETURN(const auto simulator, SimulatorOf(machine));
  SizeModel model;
  model.network = machine.family.network();
  const DeviceGroups all = AllCores(size.cores);
  for (const int i : {0, 1}) {
    ASSIGN_OR_RETURN(const CollectiveEstimate e,
                     simulator->Estimate(CollectiveKind::kAllToAll, (i == 0 ? 8 : 32) * kMiB, all));
    model.all_to_all_seconds[i] = SecondsOf(e.time) - model.network.collective_cost_seconds();
  }
  const std::optional<GroupBox> box = BoxOf(simulator->topology(), all.group(0));
  TOROID_CHECK(box.has_value() && box->axes.size() == 2, size.cores);
  const ColorChoice choice = ColorChoices(*box, model.network.algorithms())[0];
  const BoxAxis &first = box->axes[choice.order[0]], &second = box->axes[choice.order[1]];
  model.first = {first.count, first.closed};
  model.second = {second.count, second.closed};
  model.colors = choice.colors;
  return model;
}

// Relative errors of a size's points under the four values, given as multiples of their expectations.
const double kExpected[] = {20e-6, 1e-6, 150e9, 1e-6 / kMiB};
constexpr double kPull = 0.1;

std::vector<double> Errors(const PublishedExchanges& size, const SizeModel& model, const Eigen::VectorXd& x) {
  NetworkSpec network = model.network;
  network.set_collective_cost_seconds(std::abs(x[0]) * kExpected[0]);
  network.set_step_cost_seconds(std::abs(x[1]) * kExpected[1]);
  network.set_injection_bytes_per_second(std::max(std::abs(x[2]), 1e-3) * kExpected[2]);
  network.set_local_pass_seconds_per_byte(std::abs(x[3]) * kExpected[3]);
  std::vector<double> errors;
  for (const Figure9Point& point : Points(size)) {
    const double seconds =
        point.kind == CollectiveKind::kAllToAll
            ? network.collective_cost_seconds() + model.all_to_all_seconds[point.bytes == 8 * kMiB ? 0 : 1]
            : AxisAllReduceSeconds(network, model.first, model.second, model.colors, point.bytes);
    errors.push_back(seconds * 1e6 / point.paper_microseconds - 1);
  }
  return errors;
}

// The residuals, as Eigen's Levenberg-Marquardt takes them.
struct Residuals {
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  static constexpr int InputsAtCompileTime = Eigen::Dynamic;
  static constexpr int ValuesAtCompileTime = Eigen::Dynamic;

  const std::vector<SizeModel>& models;
  std::vector<int> sizes;

  int inputs() const { return 4; }
  int values() const { return static_cast<int>(sizes.size()) * 4 + 4; }
  int operator()(const Eigen::VectorXd& x, Eigen::VectorXd& residuals) const {
    int at = 0;
    for (const int size : sizes) {
      for (const double error : Errors(kFigure9[size], models[size], x)) residuals[at++] = error;
    }
    for (int i = 0; i < 4; ++i) residuals[at++] = std::sqrt(kPull) * (std::abs(x[i]) - 1);
    return 0;
  }
};

LeftOut Fit(const std::vector<SizeModel>& models, const std::vector<int>& fitted) {
  const Residuals residuals{models, fitted};
  Eigen::NumericalDiff<Residuals, Eigen::Central> differences(residuals);
  Eigen::LevenbergMarquardt<Eigen::NumericalDiff<Residuals, Eigen::Central>> solver(differences);
  Eigen::VectorXd x = Eigen::VectorXd::Ones(4);
  solver.minimize(x);
  std::vector<double> inside, outside;
  LeftOut result;
  for (int size = 0; size < kSizes; ++size) {
    const bool in = std::find(fitted.begin(), fitted.end(), size) != fitted.end();
    if (in) result.fitted_cores.push_back(kFigure9[size].cores);
    const std::vector<double> errors = Errors(kFigure9[size], models[size], x);
    (in ? inside : outside).insert((in ? inside : outside).end(), errors.begin(), errors.end());
  }
  result.collective_cost_seconds = std::abs(x[0]) * kExpected[0];
  result.step_cost_seconds = std::abs(x[1]) * kExpected[1];
  result.injection_bytes_per_second = std::abs(x[2]) * kExpected[2];
  result.local_pass_seconds_per_byte = std::abs(x[3]) * kExpected[3];
  result.fitted = Summarize(inside);
  result.left_out = Summarize(outside);
  return result;
}

}  // namespace

MeanAndWorst Summarize(const std::vector<double>& errors) {
  MeanAndWorst summary;
  for (const double error : errors) {
    summary.mean += std::abs(error) / static_cast<double>(errors.size());
    summary.worst = std::max(summary.worst, std::abs(error));
  }
  return summary;
}

absl::StatusOr<std::vector<Figure9Point>> SimulateFigure9() {
  std::vector<Figure9Point> points;
  for (const PublishedExchanges& size : kFigure9) {
    ASSIGN_OR_RETURN(const std::vector<Figure9Point> some, SimulateSize(size));
    points.insert(points.end(), some.begin(), some.end());
  }
  return points;
}

absl::StatusOr<std::vector<LeftOut>> LeaveOutFigure9() {
  std::vector<SizeModel> models;
  for (const PublishedExchanges& size : kFigure9) {
    ASSIGN_OR_RETURN(models.emplace_back(), ModelOf(size));
  }
  std::vector<LeftOut> all;
  for (unsigned set = 0; set < 1u << kSizes; ++set) {
    if (__builtin_popcount(set) != kSizes / 2) continue;
    std::vector<int> fitted;
    for (int size = 0; size < kSizes; ++size) {
      if (set >> size & 1) fitted.push_back(size);
    }
    all.push_back(Fit(models, fitted));
  }
  return all;
}

}  // namespace toroid
