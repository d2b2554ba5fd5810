export interface Page<T> {
  items: T[]
  total: number
  page: number
  page_size: number
  total_pages: number
}

/** The envelope of every list. */
export const toPage = <T>(
  found: { items: T[]; total: number },
  asked: { page: number; page_size: number },
): Page<T> => ({
  items: found.items,
  total: found.total,
  page: asked.page,
  page_size: asked.page_size,
  total_pages: Math.ceil(found.total / asked.page_size),
})
