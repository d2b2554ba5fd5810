import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { writeAtomically } from '../../dev/files.ts'
import { section } from '../../dev/stack/choices.ts'
import { readConfiguration } from '../configuration.ts'
import type { HandChoice } from './options.ts'
import { HAND_MODELS, type HandEndpoint, startHandEndpoint } from './server.ts'

/** Time limit in seconds of a model call that people answer: a day. */
export const PATIENCE_S = 86_400

/** Starts the endpoint of a choice. @param fresh removes what the folder holds from earlier runs */
export async function openEndpoint(choice: HandChoice, fresh: boolean): Promise<HandEndpoint> {
  if (fresh) await rm(choice.folder, { recursive: true, force: true })
  const endpoint = await startHandEndpoint({
    ...choice,
    onCall: (call, chain) => console.error(`call ${call}: ${chain}`),
  })
  console.error(`answers are awaited in ${choice.folder}: npm run eval -- --hand --next shows the first call`)
  return endpoint
}

/** Makes the variables that connect a stack to the endpoint. */
export const handVariables = (url: string): Record<string, string> => ({
  OPENAI_BASE_URL: `${url}/v1`,
  OPENAI_API_KEY: 'hand',
  PLATFORM_LLM_MODEL: `openai/${HAND_MODELS.main}`,
  PLATFORM_LLM_SMALL_MODEL: `openai/${HAND_MODELS.small}`,
})

/** Serves until the signal fires. Prints the lines that start a stack with the endpoint. */
export async function serve(choice: HandChoice, options: { fresh: boolean; signal: AbortSignal }): Promise<void> {
  const endpoint = await openEndpoint(choice, options.fresh)
  const path = join(choice.folder, 'platform.yaml')
  const document = await readConfiguration(process.env.PLATFORM_CONFIG)
  await writeAtomically(path, stringify({ ...document, llm: { ...section(document, 'llm'), timeout: PATIENCE_S } }))
  const variables = { ...handVariables(endpoint.url), PLATFORM_CONFIG: path }
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value} \\`)
  console.log([...lines, '  npm start'].join('\n'))
  if (!options.signal.aborted)
    await new Promise((resolve) => options.signal.addEventListener('abort', resolve, { once: true }))
  await endpoint.close()
}
