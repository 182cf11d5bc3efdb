"""Creates a trainable model. ART 0.5.22 and later also require the name under which its runs and checkpoints are stored."""

import art


def trainable_model(name: str, project: str, base_model: str) -> art.TrainableModel:
    stored_as = {"run_name": name} if "run_name" in art.TrainableModel.model_fields else {}
    return art.TrainableModel(name=name, project=project, base_model=base_model, **stored_as)
