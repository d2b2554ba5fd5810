const NAME = String.raw`[\p{L}_][\p{L}\p{N}_-]*`
const KEY = String.raw`(?:\[(?:\d+|"(?:\\\P{Cc}|[^"\\\p{Cc}])*")\])?`

/**
 * The address of one managed resource or of one of its instances, as plans write it. `module.a` alone, which stands for
 * all that is in it, is none, and neither is a data source.
 */
export const RESOURCE_ADDRESS = new RegExp(
  String.raw`^(?:module\.${NAME}${KEY}\.)*(?!data\.|module\.)${NAME}\.${NAME}${KEY}$`,
  'u',
)
