import { readFile } from 'node:fs/promises'
import { type OutputFiles, writeOutput } from '../output/files.ts'

/**
 * Runs a job that removes one object from the state, which stays in the cloud, and returns its exit code. An address
 * without an index names all instances of its resource, so the state is asked first what the address stands for.
 * @param list has the engine write the addresses that it stands for into the output files; `remove` removes them
 */
export async function runRemovalJob(
  output: OutputFiles,
  address: string,
  list: () => Promise<number>,
  remove: () => Promise<number>,
): Promise<number> {
  const listed = await list()
  if (listed !== 0) return listed
  const found = (await readFile(output.stdout, 'utf8')).split('\n').filter((line) => line !== '')
  if (found.length === 1 && found[0] === address) return await remove()
  const reason =
    found.length === 0 ? 'is not in the state' : `stands for other objects: ${found.slice(0, 5).join(', ')}`
  return await writeOutput(output, 1, '', `Error: Nothing was removed\n\n${address} ${reason}.\n`)
}
