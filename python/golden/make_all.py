"""Rebuilds every fixture. Run through `npm run golden:make`."""

import os
import warnings

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
warnings.simplefilter("ignore", FutureWarning)  # Transformers about its own internals

import make_embeddings  # noqa: E402
import make_gguf  # noqa: E402
import make_literals  # noqa: E402
import make_llama_class  # noqa: E402
import make_lora  # noqa: E402
import make_models  # noqa: E402
import make_named_templates  # noqa: E402
import make_peft_fields  # noqa: E402
import make_rl  # noqa: E402
import make_rope  # noqa: E402
import make_safetensors  # noqa: E402
import make_schedules  # noqa: E402
import make_sent_values  # noqa: E402
import make_sft  # noqa: E402
import make_sampling  # noqa: E402
import make_templates  # noqa: E402
import make_tinker  # noqa: E402
import make_tokenizer_classes  # noqa: E402
import make_tokenizer_corpus  # noqa: E402
import make_tokenizers  # noqa: E402

make_safetensors.main()
make_tokenizers.main()
make_tokenizer_corpus.main()
make_llama_class.main()
make_tokenizer_classes.main()
make_models.main()
make_lora.main()
make_embeddings.main()
make_rope.main()
make_rl.main()
make_sft.main()
make_schedules.main()
make_tinker.main()
make_sampling.main()
make_gguf.main()
make_literals.main()
make_sent_values.main()
make_peft_fields.main()
make_templates.main()
make_named_templates.main()
