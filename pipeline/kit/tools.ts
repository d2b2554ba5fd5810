import { type Tool, ToolError } from '../../src/agent/agent-request.ts'
import { MASK } from '../../src/base/masking.ts'
import type { ToolKind } from '../../src/chains/shared/chain.ts'
import type { ToolBuilders } from '../../src/chains/shared/run-chain.ts'
import type { LlmClient } from '../../src/llm/inference.ts'
import type { ProviderSchema } from '../../src/plan/schema/provider-schema.ts'
import { fileTools } from '../tools/edit.ts'
import { inspectionTools } from '../tools/look.ts'
import { resourceSchemaTool } from '../tools/resource-schema.ts'
import { webSearchTool } from '../tools/web-search.ts'
import { createFileAccess } from '../workspace/files/access.ts'
import type { Run } from './run.ts'

/** Creates tools without a workspace. Web search support is checked once, so that the tools stay the same. */
export function createBareTools(llm: LlmClient): ToolBuilders<'webSearch'> {
  const canSearch = llm.canSearch?.('main') ?? true
  return { webSearch: () => (canSearch ? [webSearchTool(llm, 'main')] : []) }
}

/** Creates the tools of a run that works on code. */
export function createTools(
  { context, workspace }: Run,
  llm: LlmClient,
  schema: ProviderSchema,
): ToolBuilders<ToolKind> {
  const openFiles = () => createFileAccess(context.config, workspace)
  return {
    ...createBareTools(llm),
    editing: () => fileTools(openFiles()).map(refuseMasks),
    inspection: () => inspectionTools(openFiles(), workspace),
    providerSchema: () => [resourceSchemaTool(schema)],
  }
}

/** Makes a tool refuse the mask in arguments, because writing it back would lose the masked value. */
const refuseMasks = (tool: Tool): Tool => ({
  ...tool,
  run: (args, signal) => {
    if (Object.values(args).some((value) => typeof value === 'string' && value.includes(MASK)))
      throw new ToolError(
        `The text holds "${MASK}", which stands for a value that is hidden from you. Leave the lines with that value ` +
          'as they are: change only other lines, with `replace_in_file`.',
      )
    return tool.run(args, signal)
  },
})
