# Usage: sh dotenv.sh FILE NAME
