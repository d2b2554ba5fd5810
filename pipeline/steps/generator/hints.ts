import { type Declarations, readDeclarations } from '../../../src/plan/diagnostics/declarations.ts'
import type { Diagnostic } from '../../../src/plan/diagnostics/diagnostic.ts'
import { hintFor, type Surroundings } from '../../../src/plan/diagnostics/hints.ts'
import { type Block, keyOf, readBlock, type TypeName } from '../../../src/plan/schema/read-schema.ts'
import type { Kit } from '../../kit/kit.ts'
import type { FileAccess } from '../../workspace/files/access.ts'

/** Maximum number of diagnostics that a model is shown. */
const MAX_HINTED = 12
/** Maximum code files of a folder that are read for declarations. */
const MAX_FILES = 100

/** Adds what code knows about the names in errors below the engine's text. Errors without such facts get no hint. */
export async function addHints(kit: Kit, files: FileAccess, diagnostics: readonly Diagnostic[]): Promise<Diagnostic[]> {
  const { run, engine } = kit
  const folders = new Map<string, Promise<Declarations>>()
  const blocks = new Map<string, Promise<Block | null>>()
  const declaredAt = (folder: string) => once(folders, folder, () => readFolder(files, folder))
  const blockOf = async (type: TypeName) => readBlock((await engine.schema.of([type]))?.[0]?.schema)
  const surroundingsOf = async (file: string | null): Promise<Surroundings> => {
    const folder = folderOf(file ?? '')
    const declared = () => declaredAt(folder)
    return {
      text: file === null ? null : await files.read(file).catch(() => null),
      declared,
      declaredIn: async (module) => {
        const source = (await declared()).modules.get(module)
        return source != null && /^\.\.?\//.test(source) ? await declaredAt(`${folder}/${source}`) : null
      },
      types: () => engine.schema.names(),
      block: (type) => once(blocks, keyOf(type), () => blockOf(type)),
    }
  }
  return await Promise.all(
    diagnostics.map(async (one, index) => {
      if (one.severity !== 'error' || index >= MAX_HINTED) return one
      try {
        const hint = await hintFor(one, await surroundingsOf(one.file))
        return hint === '' ? one : { ...one, hint }
      } catch (error) {
        run.signal.throwIfAborted()
        run.log.info('an error of the engine got no hint', { error })
        return one
      }
    }),
  )
}

function once<Value>(known: Map<string, Promise<Value>>, key: string, read: () => Promise<Value>): Promise<Value> {
  const value = known.get(key) ?? read()
  known.set(key, value)
  return value
}

const folderOf = (file: string) => file.slice(0, Math.max(0, file.lastIndexOf('/'))) || '.'

/** @param folder relative to the engine root; refused if `..` leads out of it */
async function readFolder(files: FileAccess, folder: string): Promise<Declarations> {
  const names = (await files.list(folder)).filter((name) => /\.(?:tf|tofu)$/.test(name))
  return readDeclarations(await Promise.all(names.slice(0, MAX_FILES).map((name) => files.read(name))))
}
