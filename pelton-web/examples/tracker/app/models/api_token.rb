# app/models/api_token.rb
# frozen_string_literal: true

class ApiToken < Pelton::Record::Model
  belongs_to :user
  has_secure_token :token
end
