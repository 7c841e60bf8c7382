import { LOCAL_PORTS } from './server-kind.ts';

/** The scripted offline teacher: needs neither key nor network. */
export const OFFLINE_PROVIDER = 'offline';
export const OFFLINE_MODEL = 'offline/demo';
export const OFFLINE_BASE_URL = 'offline:';

/** A provider that is known without any settings. */
export interface ProviderPreset {
  id: string;
  name: string;
  baseUrl: string;
  /** Environment variable that may hold the key; null where none is needed. */
  keyEnv: string | null;
  defaultModel: string | null;
  scripted: boolean;
}

export const PROVIDER_PRESETS: readonly ProviderPreset[] = [
  { id: OFFLINE_PROVIDER, name: 'Offline demo', baseUrl: OFFLINE_BASE_URL, keyEnv: null, defaultModel: OFFLINE_MODEL, scripted: true },
  remote('openrouter', 'OpenRouter', 'https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY'),
  remote('openai', 'OpenAI', 'https://api.openai.com/v1', 'OPENAI_API_KEY'),
  remote('nous', 'Nous Research', 'https://inference-api.nousresearch.com/v1', 'NOUS_API_KEY'),
  local('ollama', 'Ollama'),
  local('lmstudio', 'LM Studio'),
  local('vllm', 'vLLM'),
  local('sglang', 'SGLang'),
  local('llamacpp', 'llama.cpp'),
];

function remote(id: string, name: string, baseUrl: string, keyEnv: string): ProviderPreset {
  return { id, name, baseUrl, keyEnv, defaultModel: null, scripted: false };
}

/** 127.0.0.1 and not localhost: these servers mostly listen on IPv4 only. */
function local(id: keyof typeof LOCAL_PORTS, name: string): ProviderPreset {
  return { id, name, baseUrl: `http://127.0.0.1:${LOCAL_PORTS[id]}/v1`, keyEnv: null, defaultModel: null, scripted: false };
}
