module dex

go 1.26.0

require (
	github.com/dexidp/dex v0.0.0-20260806151424-ab64ed778070
	github.com/dexidp/dex/api/v2 v2.4.1-0.20260806151424-ab64ed778070
)
