#include "simulator/prediction/build_prediction.h"

#include "simulator/prediction/prediction_builder.h"

namespace toroid {

absl::StatusOr<Prediction> BuildPrediction(const PredictionInputs& inputs) {
  return PredictionBuilder(inputs).Build();
}

}  // namespace toroid
