import type { ChainTrace } from '../observe/trace-types.ts'
import type { AgentRequest } from './types.ts'

/**
 * Runs a chain within its span, which ends however the chain does.
 * @param shown what of the result the span shows
 */
export async function traced<T>(
  request: Pick<AgentRequest<unknown>, 'chain' | 'query' | 'trace'>,
  work: (chain: ChainTrace | undefined) => Promise<T>,
  shown: (result: T) => unknown,
): Promise<T> {
  const chain = request.trace?.chain(request.chain, request.query)
  try {
    const result = await work(chain)
    chain?.end(shown(result))
    return result
  } catch (error) {
    chain?.fail(error)
    throw error
  }
}
