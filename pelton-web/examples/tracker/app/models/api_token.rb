# app/models/api_token.rb
# frozen_string_literal: true

require "securerandom"

class ApiToken < Sequel::Model
  many_to_one :user

  def before_create
    self.token ||= SecureRandom.alphanumeric(24)
    super
  end

  def validate
    super
    validates_presence :user_id
  end
end
