/** Longest text of a value, in UTF-16 units; a longer one is cut. */
export const MAX_TEXT = 4_000
/** Longest key in a path, in UTF-16 units. */
export const MAX_KEY = 300
/** Most values inside of one value that is shown as a whole. */
export const MAX_VALUES = 200
/** Most attributes of one resource. */
export const MAX_ATTRIBUTES = 1_000
/** Parts of a value that are nested deeper are not compared. */
export const MAX_DEPTH = 50
/** Most dependencies of one resource. */
export const MAX_DEPENDENCIES = 100
/** Calls of modules inside of each other that dependencies are followed through. */
export const MAX_MODULE_DEPTH = 20
/** Most entries of lists that only tell something in brief. */
export const MAX_BRIEF = 1_000
export const MAX_DRIFT_PATHS = 20
/** Largest document in bytes as far as attributes make it large. */
export const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024
