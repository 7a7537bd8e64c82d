-- The request of a proposal that came as a tool call, as JSON. A command in the model's text has none: its text is parsed again.
ALTER TABLE proposals ADD COLUMN request TEXT;
