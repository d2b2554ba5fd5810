import { join } from 'node:path'
import type { Part } from '../part.ts'
import { output } from '../tools/command.ts'
import { installPython } from '../tools/python.ts'

const LITELLM = '1.100.0'
/** The server of llama.cpp within a Python package, built for this machine. */
const XLLAMACPP = '2026.10.11549'
const GGUF = '0.19.0'

/** Servers that people put before a model, with a model of a few kilobytes and with canned answers. */
export const part: Part = {
  name: 'model-servers',
  about: 'models behind llama.cpp and LiteLLM: calls, streams, thoughts, refusals, and a round through the proxy',
  ci: true,
  install: async (tools) => {
    const llama = await installPython(`xllamacpp-${XLLAMACPP}`, [`xllamacpp==${XLLAMACPP}`, `gguf==${GGUF}`], tools)
    const proxy = await installPython(`litellm-${LITELLM}`, [`litellm[proxy]==${LITELLM}`], tools)
    const model = join(tools.folder, 'tiny.gguf')
    await output(`${llama}/python`, [join(import.meta.dirname, 'tiny_model.py'), model])
    return {
      version: `llama.cpp in xllamacpp ${XLLAMACPP}, LiteLLM ${LITELLM}`,
      env: { LLAMA_PYTHON: `${llama}/python`, LITELLM: `${proxy}/litellm`, TINY_MODEL: model },
    }
  },
}
