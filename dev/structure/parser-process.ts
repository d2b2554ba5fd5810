import type { ParseReply, ParseRequest } from './parse.ts'
import { readSyntax } from './read-syntax.ts'

process.once('message', async (request: ParseRequest) => {
  const reply = await readSyntax(request).then(
    (files): ParseReply => ({ files }),
    (error): ParseReply => ({ error: error instanceof Error ? error.message : String(error) }),
  )
  process.send?.(reply, () => process.disconnect())
})
