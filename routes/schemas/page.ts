import { z } from '@hono/zod-openapi'

/** The envelope of one page of a list. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    total: z.number().int(),
    page: z.number().int(),
    page_size: z.number().int(),
    total_pages: z.number().int().describe('0 when nothing matches.'),
  })

/** Wraps a list in the envelope. */
export const toPage = <T>(
  { items, total }: { items: T[]; total: number },
  { page, page_size }: { page: number; page_size: number },
) => ({ items, total, page, page_size, total_pages: Math.ceil(total / page_size) })

/** The envelope of an example with one item. */
export const examplePage = <T>(item: T) => toPage({ items: [item], total: 1 }, { page: 1, page_size: 20 })
