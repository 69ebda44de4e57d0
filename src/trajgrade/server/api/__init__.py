"""API: what is kept and done, as JSON.

paging       a list that is given in parts
datasets     datasets, their versions and rows
runs         runs and their rows, and two runs compared
traces       what came, as it came and as it is read
automation   rules, what they did, what was set aside, how it goes
reviews      what people are to look at, and what they say
document     the OpenAPI document
"""
