# frozen_string_literal: true

# Signs up. The form reveals which addresses have an account, ten times an hour. If that must stay secret, send
# a mail with a link to continue to every address, and respond the same way each time.
class SignUpsController < ApplicationController
  rate_limit to: 10, within: 3600, only: :create

  def new
    @user = User.new
  end

  def create
    @user = User.new(params.require(:user).permit(:name, :email, :password))
    return render(:new, status: 422) unless save
    sign_in(@user)
    redirect_to after_sign_in_path, notice: "Welcome."
  end

  private

  # Another request may have just taken the address.
  def save
    @user.save
  rescue Sequel::UniqueConstraintViolation
    @user.errors.add(:email, :taken)
    false
  end
end
