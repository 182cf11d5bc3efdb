// Classes of Transformers 5.23 that make a tokenizer in a way of their own, and that rebuilt-classes.ts does not have
// (python/golden/make_tokenizer_classes.py lists them). Every other class takes tokenizer.json as it is.
export const OTHER_CLASSES: ReadonlySet<string> = new Set(
  `
  AlbertTokenizer BartTokenizer BarthezTokenizer BartphoTokenizer BasicTokenizer BertGenerationTokenizer BertJapaneseTokenizer
  BertTokenizer BertweetTokenizer BigBirdTokenizer BioGptTokenizer BlenderbotSmallTokenizer BlenderbotTokenizer ByT5Tokenizer
  CLIPTokenizer CTRLTokenizer CamembertTokenizer CanineTokenizer CharacterTokenizer ClvpTokenizer CodeGenTokenizer
  CpmAntTokenizer CpmTokenizer DPRContextEncoderTokenizer DPRQuestionEncoderTokenizer DPRReaderTokenizer DebertaTokenizer
  DebertaV2Tokenizer DiaTokenizer DistilBertTokenizer EsmTokenizer EsmcTokenizer FSMTTokenizer FastSpeech2ConformerTokenizer
  FlaubertTokenizer FunnelTokenizer GPTNeoXJapaneseTokenizer GPTSw3Tokenizer HerbertTokenizer LasrTokenizer LayoutLMv2Tokenizer
  LayoutLMv3Tokenizer LayoutXLMTokenizer LukeTokenizer M2M100Tokenizer MBart50Tokenizer MBartTokenizer MLukeTokenizer
  MPNetTokenizer MarianTokenizer MarkupLMTokenizer MecabTokenizer MgpstrTokenizer MobileBertTokenizer MyT5Tokenizer NllbTokenizer
  NougatTokenizer OpenAIGPTTokenizer PLBartTokenizer PegasusTokenizer PerceiverTokenizer PhobertTokenizer Pop2PianoTokenizer
  ProphetNetTokenizer RagTokenizer ReformerTokenizer RemBertTokenizer RoCBertTokenizer RoFormerTokenizer RobertaTokenizer
  SeamlessM4TTokenizer Siglip2Tokenizer SiglipTokenizer Speech2TextTokenizer SpeechT5Tokenizer SplinterTokenizer
  SqueezeBertTokenizer T5Tokenizer TapasTokenizer Tipsv2Tokenizer UdopTokenizer VideoPrismTokenizer VitsTokenizer
  Wav2Vec2CTCTokenizer Wav2Vec2PhonemeCTCTokenizer WhisperTokenizer WordpieceTokenizer XGLMTokenizer XLMRobertaTokenizer
  XLMTokenizer XLNetTokenizer
  `
    .trim()
    .split(/\s+/),
);
