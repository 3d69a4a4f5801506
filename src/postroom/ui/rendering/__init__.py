"""From values to HTML: templates, Markdown, text that can be trusted, stylesheet and scripts."""
