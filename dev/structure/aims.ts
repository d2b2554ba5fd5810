import { LARGE_FILE, LARGE_FOLDER, LARGE_FUNCTION, SMALL_FILE } from './measure.ts'
import { MAX_COLUMNS } from './parse.ts'
import type { Survey } from './survey.ts'

/** A figure beside what it should be. */
export interface Figure {
  name: string
  value: string
  /** Null: told for its own sake. */
  aim: string | null
  met: boolean
}

/** The sizes of `src`, `pipeline` and `sidecars`. A missed aim fails nothing: it says where to look next. */
export function compareWithAims({ parts, sizes }: Survey): Figure[] {
  const together = parts.find(({ name }) => name === 'together')
  const src = parts.find(({ name }) => name === 'src')
  const { median = 0, p95 = 0, small = 0, files = 0, oneImporter = 0 } = together ?? {}
  const none = (name: string, list: readonly unknown[]): Figure => ({
    name,
    value: String(list.length),
    aim: 'none',
    met: list.length === 0,
  })
  return [
    { name: 'rooms of src', value: String(src?.rooms ?? 0), aim: 'at most 20', met: (src?.rooms ?? 0) <= 20 },
    { name: 'median lines of a file', value: String(median), aim: '60 to 110', met: median >= 60 && median <= 110 },
    { name: 'lines of 95 % of files', value: String(p95), aim: `under ${LARGE_FILE}`, met: p95 < LARGE_FILE },
    {
      name: `files of ${SMALL_FILE} lines or fewer`,
      value: `${small} of ${files} (${percent(small, files)})`,
      aim: 'under 8 %',
      met: small < files * 0.08,
    },
    none(`functions over ${LARGE_FUNCTION} lines`, sizes.largeFunctions),
    none(`folders over ${LARGE_FOLDER} files`, sizes.largeFolders),
    none(`lines over ${MAX_COLUMNS} columns`, sizes.longLines),
    { name: `files over ${LARGE_FILE} lines`, value: String(sizes.largeFiles.length), aim: null, met: true },
    {
      name: 'files with one importer',
      value: `${oneImporter} of ${files} (${percent(oneImporter, files)})`,
      aim: null,
      met: true,
    },
  ]
}

export const percent = (count: number, of: number): string => `${of === 0 ? 0 : ((100 * count) / of).toFixed(1)} %`
