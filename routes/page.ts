export interface Page<T> {
  items: T[]
  total: number
  page: number
  page_size: number
  total_pages: number
}

/** Wraps a list in the common envelope. */
export const toPage = <T>(
  result: { items: T[]; total: number },
  query: { page: number; page_size: number },
): Page<T> => ({
  items: result.items,
  total: result.total,
  page: query.page,
  page_size: query.page_size,
  total_pages: Math.ceil(result.total / query.page_size),
})
