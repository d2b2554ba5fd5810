/** Works through the items, at most `limit` at a time. The first failure stops the rest and is thrown. */
export async function forEachOf<Item>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items.values()
  let failed = false
  const worker = async () => {
    for (const item of queue) {
      if (failed) return
      await work(item).catch((error: unknown) => {
        failed = true
        throw error
      })
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker))
}
