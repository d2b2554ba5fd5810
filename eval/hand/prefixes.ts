import { cacheText, type HandRequest } from './request.ts'

/** What an earlier call has in common with a new one. */
export interface Earlier {
  call: number
  /** How many messages at the beginning are the same. */
  messages: number
}

export interface Measured {
  /** Characters of tools and messages together. */
  input_chars: number
  /** Of these the longest beginning that an earlier call of the same model had, which a provider's cache would serve. */
  prefix_chars: number
}

/** Remembers requests, and measures how far a new one begins like any of them. */
export function createPrefixes() {
  const seen: { model: string; text: string }[] = []
  return {
    /** Measures a request and remembers it. A call that still waits for its answer counts as an earlier one. */
    add(request: HandRequest): Measured {
      const text = cacheText(request)
      const lengths = seen.filter(({ model }) => model === request.model).map((one) => commonLength(one.text, text))
      seen.push({ model: request.model, text })
      return { input_chars: text.length, prefix_chars: Math.max(0, ...lengths) }
    },
  }
}

/** How many characters two texts have in common at their beginning. */
function commonLength(a: string, b: string): number {
  const limit = Math.min(a.length, b.length)
  let length = 0
  while (length < limit && a.charCodeAt(length) === b.charCodeAt(length)) length++
  return length
}
