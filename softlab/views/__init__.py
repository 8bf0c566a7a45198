"""Pictures of records: plotly figures for charts, plain data for SVG diagrams, HTML for tables. Pure, without state."""
