import * as v from 'valibot'

/**
 * Order of an assistant's blocks, thoughts included. Providers that sign thoughts want the turn back as it
 * was; text and calls are taken from the message, because they were masked.
 */
export type BlockOrder = (number | 'call' | { thought: unknown })[]

const orderSchema = v.array(v.union([v.number(), v.literal('call'), v.object({ thought: v.unknown() })]))

export const readOrder = (carry: unknown): BlockOrder | null => {
  const parsed = v.safeParse(orderSchema, carry)
  return parsed.success ? parsed.output : null
}

/** Undefined when there is no thought in it: then the usual order will do. */
export const carriedOrder = (order: BlockOrder): BlockOrder | undefined =>
  order.some((item) => typeof item === 'object') ? order : undefined

/**
 * Blocks of an assistant's message.
 * @param order as the answer had them, null when unknown; one that fits no longer keeps its thoughts, in front
 */
export function arrangeBlocks<Block>(
  message: { text: string; calls: readonly Block[] },
  textBlock: (text: string) => Block,
  order: BlockOrder | null,
  thoughtBlock: (thought: unknown) => Block,
): Block[] {
  const texts = (order ?? []).filter((item) => typeof item === 'number')
  const fits =
    order !== null &&
    texts.reduce((sum, length) => sum + length, 0) === message.text.length &&
    order.filter((item) => item === 'call').length === message.calls.length
  if (!fits) {
    const thoughts = (order ?? []).flatMap((item) => (typeof item === 'object' ? [thoughtBlock(item.thought)] : []))
    return [...thoughts, ...(message.text.trim() === '' ? [] : [textBlock(message.text)]), ...message.calls]
  }
  const calls = [...message.calls]
  let at = 0
  return order.flatMap((item): Block[] => {
    if (typeof item === 'object') return [thoughtBlock(item.thought)]
    if (item === 'call') return calls.splice(0, 1)
    const text = message.text.slice(at, at + item)
    at += item
    return text.trim() === '' ? [] : [textBlock(text)]
  })
}
